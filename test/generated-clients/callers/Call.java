import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.util.Map;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.EscrowsApi;
import org.openapitools.client.model.PrepareEscrowRequest;
import org.openapitools.client.model.Problem;

/** Prepares an escrow, reads one and meets a problem, with the generated package. */
public class Call {
  public static void main(String[] args) throws Exception {
    ApiClient client = new ApiClient();
    client.updateBaseUri(args[0]);
    ObjectMapper json = client.getObjectMapper();
    EscrowsApi escrows = new EscrowsApi(client);

    PrepareEscrowRequest request = json.readValue(new File(args[1]), PrepareEscrowRequest.class);
    String prepared = escrows.prepareEscrow(request, null, null).getData().getEscrowPda();
    String state = escrows.readEscrow(args[2]).getData().getState().getValue();
    try {
      escrows.readEscrow(args[3]);
      throw new IllegalStateException("no problem was answered");
    } catch (ApiException refused) {
      Problem problem = json.readValue(refused.getResponseBody(), Problem.class);
      String code = problem.getCode().getValue();
      System.out.println(
          json.writeValueAsString(Map.of("prepared", prepared, "state", state, "code", code)));
    }
  }
}
